"use strict";
(() => {
  const all = (what, from = document) => [...from.querySelectorAll(what)];
  const one = (what, from = document) => from.querySelector(what);
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const say = (text) => { one("#said").textContent = text; };
  const text = (value, digits = 5) => Number(value.toPrecision(digits)).toString().replace("-", "−");

  // ---- light and dark
  const themes = ["auto", "light", "dark"];
  const themeButton = one("#theme");
  const remembered = () => { try { return localStorage.getItem("strat-theme"); } catch { return null; } };
  const dress = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    themeButton.textContent = `Theme: ${theme}`;
    try { localStorage.setItem("strat-theme", theme); } catch { /* a page without storage forgets */ }
  };
  let theme = themes.includes(remembered()) ? remembered() : "auto";
  dress(theme);
  themeButton.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    dress(theme);
  });

  // ---- tables: sort, filter, copy
  const compare = (a, b, numeric) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    return numeric ? a - b : a.localeCompare(b, undefined, { numeric: true });
  };
  all(".sort").forEach((button) => button.addEventListener("click", () => {
    const head = button.closest("th");
    const table = head.closest("table");
    const column = [...head.parentNode.children].indexOf(head);
    const numeric = head.classList.contains("num");
    const falling = head.getAttribute("aria-sort") === (numeric ? null : "ascending") || (numeric && head.getAttribute("aria-sort") === "ascending");
    all("th", head.parentNode).forEach((th) => th.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const body = table.tBodies[0];
    const keyed = [...body.rows].map((row) => [row.children[column].dataset.v, row]);
    keyed.sort((a, b) => (a[0] === "" || b[0] === "" ? 1 : falling ? -1 : 1) * compare(a[0], b[0], numeric));
    body.append(...keyed.map((pair) => pair[1]));
    say(`Sorted by ${button.textContent}, ${falling ? "descending" : "ascending"}`);
  }));
  all("[data-filter]").forEach((input) => input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    const rows = all(`#${input.dataset.filter} tbody tr`);
    rows.forEach((row) => { row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted); });
    say(`${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`);
  }));
  const copies = read("strat-copies");
  const put = async (words) => {
    try { await navigator.clipboard.writeText(words); return true; } catch { /* older ways remain */ }
    const area = document.createElement("textarea");
    area.value = words;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  };
  all("[data-copy]").forEach((button) => button.addEventListener("click", async () => {
    const done = await put(copies[button.dataset.copy][button.dataset.form]);
    button.textContent = done ? "Copied" : "Failed";
    say(done ? `Copied as ${button.dataset.form}` : "Could not copy");
    setTimeout(() => { button.textContent = button.dataset.form; }, 1400);
  }));
  one("#download").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(read("strat-data"), null, 2)], { type: "application/json" }));
    link.download = "strat-report.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });

  // ---- tips
  const tip = one("#tip");
  const show = (words, x, y) => {
    tip.textContent = words;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(6, Math.min(x + 14, innerWidth - box.width - 6))}px`;
    tip.style.top = `${y + 18 + box.height > innerHeight ? y - box.height - 12 : y + 18}px`;
  };
  const hide = () => { tip.hidden = true; };
  const about = (cell) => {
    if (!cell.classList.contains("forest")) return cell.dataset.tip;
    const row = cell.parentNode;
    const heads = all("thead th:not(.forest)", cell.closest("table"));
    const cells = [...row.children].filter((c) => !c.classList.contains("forest"));
    return heads.map((h, i) => `${h.textContent.trim()}: ${cells[i].textContent.trim()}`).join("\n");
  };
  document.addEventListener("pointermove", (event) => {
    const cell = event.target.closest && event.target.closest("[data-tip]");
    if (cell) show(about(cell), event.clientX, event.clientY);
    else if (!(event.target.closest && event.target.closest(".canvas"))) hide();
  });
  document.addEventListener("scroll", hide, { passive: true });

  // ---- ticks
  const ticks = (low, high, wanted = 5) => {
    const rough = (high - low) / wanted;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k <= Math.floor(high / step + 1e-9); k += 1) found.push(k * step);
    return found;
  };
  const logTicks = (low, high) => {
    if (high - low < 0.6) return ticks(10 ** low, 10 ** high, 5).filter((v) => v > 0).map(Math.log10);
    const found = [];
    for (let t = Math.floor(low); t <= Math.ceil(high); t += 1) {
      for (const m of high - low < 2.5 ? [1, 2, 5] : [1]) found.push(t + Math.log10(m));
    }
    return found.filter((t) => t >= low - 1e-9 && t <= high + 1e-9);
  };
  const label = (host, places, low, high, side, say10) => {
    const digits = Math.max(0, ...places.map((t) => (text(t, 8).split(".")[1] || "").length));
    host.replaceChildren(...places.map((t) => {
      const span = document.createElement("span");
      span.style[side] = `${(100 * (t - low)) / (high - low)}%`;
      span.textContent = say10 ? text(10 ** t, 6) : (Math.abs(t) < 1e-12 ? 0 : t).toFixed(digits).replace("-", "−");
      return span;
    }));
  };
  // A window [from, to] of the unit interval, made smaller or larger about a place, and kept inside.
  const zoomed = ([from, to], factor, about = 0.5) => {
    const width = Math.min(1, Math.max(0.002, (to - from) * factor));
    const start = from + (to - from - width) * about;
    const kept = Math.min(Math.max(0, start), 1 - width);
    return [kept, kept + width];
  };
  const factors = { in: 0.6, out: 1 / 0.6, reset: Infinity };

  // ---- forests zoom along their axis
  const axisTicks = (axis, view = [0, 1]) => {
    const [low, high] = [Number(axis.dataset.low), Number(axis.dataset.high)];
    const [a, b] = view.map((share) => low + share * (high - low));
    label(axis, ticks(a, b, Math.max(3, Math.min(6, Math.floor(axis.clientWidth / 48)))), a, b, "left", false);
  };
  all(".bars .axis").forEach((axis) => new ResizeObserver(() => axisTicks(axis)).observe(axis));
  all("table.with-forest").forEach((table) => {
    const axis = one(".axis", table);
    let view = [0, 1];
    const draw = () => {
      all("td.forest svg", table).forEach((svg) => svg.setAttribute("viewBox", `${view[0] * 1000} 0 ${(view[1] - view[0]) * 1000} 24`));
      axisTicks(axis, view);
    };
    new ResizeObserver(() => axisTicks(axis, view)).observe(axis);
    const tools = table.closest(".grid");
    all("[data-zoom]", tools).forEach((button) => button.addEventListener("click", () => {
      view = zoomed(view, factors[button.dataset.zoom]);
      draw();
    }));
    table.addEventListener("wheel", (event) => {
      if (!(event.ctrlKey || event.metaKey) || !event.target.closest(".forest")) return;
      event.preventDefault();
      const box = event.target.closest(".forest").getBoundingClientRect();
      view = zoomed(view, event.deltaY < 0 ? 0.85 : 1 / 0.85, (event.clientX - box.left) / box.width);
      draw();
    }, { passive: false });
  });

  // ---- curves: hover, keys, zoom by buttons, by dragging and by ctrl and wheel
  all("[data-chart]").forEach((chart) => {
    const set = JSON.parse(chart.dataset.chart);
    const canvas = one(".canvas", chart);
    const svg = one("svg", canvas);
    const cursor = one(".cursor", canvas);
    let x = [0, 1];
    let y = [0, 1];
    let at = -1;
    const scale = (value, limits, log) => ((log ? Math.log10(Math.max(value, 10 ** limits[0])) : value) - limits[0]) / (limits[1] - limits[0]);
    const part = (limits, view) => view.map((share) => limits[0] + share * (limits[1] - limits[0]));
    const draw = () => {
      svg.setAttribute("viewBox", `${x[0] * 1000} ${(1 - y[1]) * 1000} ${(x[1] - x[0]) * 1000} ${(y[1] - y[0]) * 1000}`);
      const [a, b] = part(set.x, x);
      const [c, d] = part(set.y, y);
      const across = set.xlog ? logTicks(a, b) : ticks(a, b);
      const up = set.ylog ? logTicks(c, d) : ticks(c, d);
      label(one(".xticks", chart), across, a, b, "left", set.xlog);
      label(one(".yticks", chart), up, c, d, "bottom", set.ylog);
      const place = (t, limits) => (1000 * (t - limits[0])) / (limits[1] - limits[0]);
      one(".gridline", svg).setAttribute("d", across.map((t) => `M${place(t, set.x)} 0V1000`).join("") + up.map((t) => `M0 ${1000 - place(t, set.y)}H1000`).join(""));
    };
    const words = (value) => {
      const lines = [`${set.xlabel} ${text(value)}`];
      set.series.forEach((s) => {
        const k = nearest(s, value);
        const limits = s.lo && s.lo[k] !== null ? ` (${text(s.lo[k], 4)} to ${text(s.hi[k], 4)})` : "";
        lines.push(`${set.series.length > 1 ? s.name : set.ylabel} ${text(s.y[k], 4)}${limits}`);
      });
      return lines.join("\n");
    };
    const nearest = (s, value) => {
      const target = scale(value, set.x, set.xlog);
      let best = 0;
      let gap = Infinity;
      s.x.forEach((v, k) => {
        const d = Math.abs(scale(v, set.x, set.xlog) - target);
        if (d < gap) { gap = d; best = k; }
      });
      return best;
    };
    const point = (k, where) => {
      const value = set.series[0].x[k];
      const share = (scale(value, set.x, set.xlog) - x[0]) / (x[1] - x[0]);
      at = k;
      cursor.hidden = share < 0 || share > 1;
      cursor.style.left = `${100 * share}%`;
      const box = canvas.getBoundingClientRect();
      show(words(value), where ? where.clientX : box.left + share * box.width, where ? where.clientY : box.top + 30);
      return words(value);
    };
    const shareOf = (event) => {
      const box = canvas.getBoundingClientRect();
      return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    };
    let from = null;
    let veil = null;
    canvas.addEventListener("pointermove", (event) => {
      const share = shareOf(event);
      if (from !== null && veil) {
        veil.style.left = `${100 * Math.min(from, share)}%`;
        veil.style.width = `${100 * Math.abs(share - from)}%`;
      }
      const value = part(set.x, x)[0] + share * (x[1] - x[0]) * (set.x[1] - set.x[0]);
      point(nearest(set.series[0], set.xlog ? 10 ** value : value), event);
    });
    canvas.addEventListener("pointerleave", () => { cursor.hidden = true; hide(); });
    canvas.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "touch" || event.button !== 0) return;
      from = shareOf(event);
      veil = document.createElement("div");
      veil.className = "selection";
      canvas.append(veil);
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (from === null) return;
      const [a, b] = [from, shareOf(event)].sort((p, q) => p - q);
      from = null;
      veil.remove();
      if (b - a < 0.02) return;
      x = [x[0] + a * (x[1] - x[0]), x[0] + b * (x[1] - x[0])];
      draw();
    });
    const change = (factor, about = 0.5, high = 0.5) => {
      x = zoomed(x, factor, about);
      y = zoomed(y, factor, high);
      draw();
    };
    canvas.addEventListener("dblclick", () => change(Infinity));
    canvas.addEventListener("wheel", (event) => {
      if (!(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      change(event.deltaY < 0 ? 0.85 : 1 / 0.85, shareOf(event), 1 - (event.clientY - box.top) / box.height);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const last = set.series[0].x.length - 1;
      if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
        const step = event.key === "ArrowRight" ? 1 : -1;
        say(point(Math.min(last, Math.max(0, at + step))));
      } else if (event.key === "+" || event.key === "=") change(factors.in);
      else if (event.key === "-") change(factors.out);
      else if (event.key === "0") change(Infinity);
      else return;
      event.preventDefault();
    });
    canvas.addEventListener("blur", () => { cursor.hidden = true; hide(); });
    all("[data-zoom]", chart.closest("figure")).forEach((button) => button.addEventListener("click", () => change(factors[button.dataset.zoom])));
  });

  // ---- any two systems
  all("[data-picker]").forEach((host) => {
    const set = JSON.parse(host.dataset.picker);
    const m = set.systems.length;
    const sides = all("select", host);
    const tell = () => {
      const [i, j] = sides.map((s) => Number(s.value));
      const out = one("output", host);
      if (i === j) { out.textContent = "Choose two different systems."; return; }
      const [a, b] = i < j ? [i, j] : [j, i];
      const k = a * m - (a * (a + 1)) / 2 + b - a - 1;
      const gap = set.values[i] - set.values[j];
      const half = set.critical * set.errors[k];
      const p = set.pvalues[k];
      out.textContent = `${text(gap, 4)} (${100 * set.level} % ${text(gap - half, 4)} to ${text(gap + half, 4)}, adjusted p ${p < 0.001 ? "< 0.001" : `= ${text(p, 3)}`}): ${Math.abs(gap) > half ? "distinguishable" : "not distinguishable"}.`;
    };
    sides.forEach((s) => s.addEventListener("change", tell));
    tell();
  });

  // ---- on paper all words are open; long tables behind a curve stay folded
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("details:not([open]):not(:has(table))");
    closed.forEach((d) => { d.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((d) => { d.open = false; }));
})();
