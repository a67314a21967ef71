// The page: asks the server of this machine, and puts what it says into the document as text, never as markup.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const counted = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
  const say = (text) => { $("live").textContent = text; };
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  };
  let form = null, table = null, running = null, chosen = {}, book = null;

  async function ask(place, body) {
    const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    let answer;
    try { answer = await fetch(place, options); } catch {
      throw { field: null, message: "The page is closed: strat no longer runs in the terminal." };
    }
    const value = await answer.json();
    if (value.error && !value.state) throw value.error;
    return value;
  }

  // ---- a job: asked after until it ends
  async function finished(job, tell) {
    for (let wait = 100; ; wait = Math.min(1.4 * wait, 1000)) {
      const state = await ask(`api/job?job=${job}`);
      tell(state);
      if (state.state === "done") return state;
      if (state.state === "failed") throw state.error;
      if (state.state === "stopped") throw { field: null, message: "Stopped.", stopped: true };
      await new Promise((done) => setTimeout(done, wait));
    }
  }

  // ---- the table
  async function look(start, sheet = false) {
    if (!sheet) { $("sheets").hidden = true; book = null; }
    for (const id of ["error-file", "error-path"]) $(id).textContent = "";
    $("opening").hidden = false;
    say("Reading the table.");
    try {
      let opened = await start();
      running = opened.job;
      let state = await finished(opened.job, () => {});
      if (state.result.kind === "sheets") {
        book = opened.source;
        $("sheet").replaceChildren(...state.result.sheets.map((value) => make("option", { value }, value)));
        $("sheets").hidden = false;
        opened = await ask("api/open", { source: book, sheet: state.result.sheets[0] });
        running = opened.job;
        state = await finished(opened.job, () => {});
      }
      table = { ...state.result, source: opened.source, name: opened.name };
      chosen = {};
      show();
    } catch (error) {
      const place = error.field === "path" ? "error-path" : "error-file";
      $(place).textContent = error.message ?? String(error);
      say("");
    } finally { $("opening").hidden = true; running = null; }
  }

  // ---- files with the folder that they had within the one that was chosen or dropped; hidden files stay out
  const within = (file, path) => ({ file, folder: path.split("/").slice(1, -1).join("/") });
  const plain = (files) => files.filter(({ file, folder }) => !/(^|\/)\./.test(`${folder}/${file.name}`));
  async function walked(entry, folder = []) {
    if (entry.isFile) return [{ file: await new Promise((done, fail) => entry.file(done, fail)), folder: folder.join("/") }];
    const reader = entry.createReader(), inside = [];
    for (;;) {
      const some = await new Promise((done, fail) => reader.readEntries(done, fail));
      if (!some.length) break;
      inside.push(...some);
    }
    return (await Promise.all(inside.map((one) => walked(one, one.isFile ? folder : [...folder, one.name])))).flat();
  }
  async function dropped(items) {
    const entries = [...items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
    return (await Promise.all(entries.map((entry) => walked(entry)))).flat();
  }

  async function upload(all) {
    const files = plain(all);
    if (!files.length) return;
    await look(async () => {
      let batch = "";
      for (const { file, folder } of files) {
        const query = new URLSearchParams({ name: file.name, folder, ...(batch ? { batch } : {}) });
        const answer = await fetch(`api/upload?${query}`, { method: "POST", body: file });
        const value = await answer.json();
        if (value.error) throw { ...value.error, field: "file" };
        batch = value.batch;
      }
      return ask("api/open", { batch });
    });
  }

  function show() {
    $("seen-title").textContent = table.kind === "logs"
      ? `${table.name}: ${counted(table.rows, "scored sample")} of ${table.systems.join(", ")}`
      : `${table.name}: ${counted(table.rows, "row")}, ${counted(table.columns.length, "column")}`;
    $("columns").tBodies[0].replaceChildren(...table.columns.map((column) => make("tr", {},
      make("th", { scope: "row" }, column.name), make("td", {}, column.kind),
      make("td", { class: "num" }, column.levels.toLocaleString("en")), make("td", {}, column.examples),
      make("td", { class: "num" }, column.missing ? column.missing.toLocaleString("en") : ""),
      make("td", {}, form.fields[column.role]?.label.toLowerCase() ?? column.role ?? ""))));
    $("columns").hidden = !table.columns.length;
    $("remarks").replaceChildren(...table.remarks.map((text) => make("li", {}, text)));
    $("seen").hidden = $("ask").hidden = false;
    $("answer").hidden = true;
    const verb = table.steps.length ? table.steps[0].verb : "evaluate";
    const first = verb === "compare" ? "better" : "good";
    document.querySelector(`#questions input[value=${first}]`).checked = true;
    fields();
    say(`${$("seen-title").textContent}. Now choose the question.`);
  }

  // ---- the question and its fields
  function questions() {
    $("questions").replaceChildren(...Object.entries(form.questions).map(([name, question]) => make("label", {},
      make("input", { type: "radio", name: "question", value: name }),
      make("span", {}, question.title, make("small", {}, question.help)))));
    $("questions").addEventListener("change", () => { keep(); fields(); });
  }
  const question = () => document.querySelector("#questions input:checked").value;

  function proposed(name) {
    const verb = form.questions[question()].verb === "compare" ? "compare" : "evaluate";
    const step = table.steps.find((one) => one.verb === verb) ?? { roles: {} };
    const value = step.roles[name];
    return value === undefined || value === null ? [] : [value].flat().map(String);
  }

  function fields() {
    const { fields: names, several } = form.questions[question()];
    $("fields").replaceChildren(...names.map((name) => {
      const many = several.includes(name);
      const usual = proposed(name);
      const kept = chosen[`${many} ${name}`];
      return field(name, form.fields[name], many, kept ?? (many ? usual : usual.slice(0, 1)));
    }));
    clear();
  }

  function why(name) {
    const given = table.proposals.filter((p) => p.role === name || (name === "score" && p.role === "right"));
    return given.map((p) => `${p.sure ? "Proposed" : "Perhaps"}: ${p.column} (${p.reason})`).join("; ");
  }

  function field(name, about, many, values) {
    const id = `field-${name}`, describedby = `help-${name} error-${name}`;
    const help = make("p", { class: "help", id: `help-${name}` }, about.help);
    const error = make("p", { class: "error", id: `error-${name}`, role: "alert" });
    const reason = why(name);
    const note = reason ? [make("p", { class: "proposed" }, reason)] : [];
    if (many) {
      const boxes = table.columns.map((column) => {
        const box = make("input", { type: "checkbox", name, value: column.name });
        box.checked = values.includes(column.name);
        return make("label", {}, box, column.name);
      });
      return make("fieldset", { class: "field", "data-field": name, "data-many": "", "aria-describedby": describedby },
        make("legend", {}, about.label), help, make("div", { class: "boxes" }, ...boxes), ...note, error);
    }
    let control;
    if (about.kind === "column" || about.kind === "choice") {
      const options = about.kind === "choice" ? about.choices : ["", ...table.columns.map((column) => column.name)];
      const words = { "": "(none)", error: "refuse", drop: "leave out their rows" };
      control = make("select", { id, name, "aria-describedby": describedby },
        ...options.map((value) => make("option", { value }, words[value] ?? value)));
    } else {
      control = make("input", { id, name, type: "text", inputmode: about.kind === "number" ? "decimal" : null,
        autocomplete: "off", spellcheck: "false", "aria-describedby": describedby });
    }
    if (values.length) control.value = values[0];
    return make("div", { class: "field", "data-field": name },
      make("label", { for: id }, about.label), help, control, ...note, error);
  }

  function filled() {
    const values = {};
    for (const element of document.querySelectorAll("#fields > [data-field]")) {
      const name = element.dataset.field;
      if ("many" in element.dataset) {
        values[name] = [...element.querySelectorAll("input:checked")].map((box) => box.value);
      } else values[name] = element.querySelector("select, input").value;
    }
    return values;
  }
  function keep() {
    for (const element of document.querySelectorAll("#fields > [data-field]")) {
      const name = element.dataset.field, many = "many" in element.dataset;
      if (element.dataset.touched !== undefined) chosen[`${many} ${name}`] = [filled()[name]].flat();
    }
  }
  $("fields").addEventListener("input", (event) => { event.target.closest("[data-field]").dataset.touched = ""; });

  function clear() {
    $("error-ask").textContent = "";
    for (const element of document.querySelectorAll("#fields > [data-field]")) {
      delete element.dataset.bad;
      $(`error-${element.dataset.field}`).textContent = "";
      for (const control of element.querySelectorAll("select, input")) control.removeAttribute("aria-invalid");
    }
  }

  function fail(error) {
    const element = error.field && document.querySelector(`#fields > [data-field="${CSS.escape(error.field)}"]`);
    if (!element) { $("error-ask").textContent = error.message ?? String(error); return; }
    element.dataset.bad = "";
    $(`error-${error.field}`).textContent = error.message;
    const control = element.querySelector("select, input");
    control.setAttribute("aria-invalid", "true");
    control.focus();
  }

  // ---- the answer
  $("ask").addEventListener("submit", async (event) => {
    event.preventDefault();
    clear();
    $("run").disabled = true;
    $("working").hidden = false;
    $("answer").hidden = true;
    $("clock").textContent = "";
    $("bar").removeAttribute("value");
    say("Computing.");
    try {
      const started = await ask("api/run", { source: table.source, question: question(), values: filled() });
      running = started.job;
      const state = await finished(started.job, (now) => {
        $("clock").textContent = `${now.seconds.toFixed(0)} s`;
        if (now.share !== null && now.share > 0) $("bar").value = now.share;
      });
      answer(started.job, state.result);
    } catch (error) { fail(error); say(error.message ?? ""); } finally {
      $("working").hidden = true;
      $("run").disabled = false;
      running = null;
    }
  });

  function answer(job, result) {
    $("report").src = `report?job=${job}`;
    $("download").href = `report?job=${job}&download=1`;
    $("apart").href = `report?job=${job}`;
    for (const name of ["command", "call", "text"]) $(name).textContent = result[name];
    const example = table.name === "predictions.csv" ? " (the example: strat demo --copy predictions.csv)" : "";
    const folder = table.name.startsWith("/") ? "" : `, in the folder of ${table.name}${example}`;
    $("where").textContent = `The same numbers from a terminal, or from Python after "import strat"${folder}.`;
    $("answer").hidden = false;
    $("answer").focus({ preventScroll: true });
    $("answer").scrollIntoView();
    say("The answer is here.");
  }

  for (const id of ["stop", "stop-opening"]) {
    $(id).addEventListener("click", () => { if (running) ask("api/stop", { job: running }).catch(fail); });
  }
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", async () => {
      const code = $(button.dataset.copy);
      try { await navigator.clipboard.writeText(code.textContent); say("Copied."); } catch {
        getSelection().selectAllChildren(code);
        say("Selected: copy it with the keyboard.");
      }
    });
  }

  // ---- ways in
  $("file").addEventListener("change", () => upload([...$("file").files].map((file) => ({ file, folder: "" }))));
  $("folder").addEventListener("change", () => upload([...$("folder").files].map((file) => within(file, file.webkitRelativePath))));
  $("sheet").addEventListener("change", () => look(() => ask("api/open", { source: book, sheet: $("sheet").value }), true));
  $("by-path").addEventListener("submit", (event) => {
    event.preventDefault();
    look(() => ask("api/open", { path: $("path").value.trim() }));
  });
  $("example").addEventListener("click", () => look(() => ask("api/open", { example: true })));
  const drop = $("drop");
  for (const kind of ["dragover", "dragleave", "drop"]) {
    addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", kind === "dragover");
      if (kind === "drop") dropped(event.dataTransfer.items).then(upload);
    });
  }
  ask("api/form").then((value) => {
    form = value;
    questions();
    if (form.first) look(async () => form.first);
  }).catch((error) => { $("error-file").textContent = error.message ?? String(error); });
})();
