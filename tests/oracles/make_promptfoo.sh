#!/bin/sh
# Write promptfoo_0.121.20.json: four tests twice with two providers, by promptfoo 0.121.20 (`npm install promptfoo@0.121.20`).
set -e
export PROMPTFOO_DISABLE_TELEMETRY=1 PROMPTFOO_DISABLE_UPDATE=1
cat > provider.js <<'END'
// A provider that answers by a rule: right for numbers that `step` does not divide, and an error for one of them.
module.exports = class {
  constructor(options) { this.step = options.config.step; this.label = options.label; this.count = 0; }
  id() { return `rule-${this.step}`; }
  async callApi(prompt, context) {
    const n = Number(context.vars.n);
    this.count += 1;
    if (n === 7 && this.step === 3) return { error: "no answer" };
    const right = n % this.step !== 0 || this.count % 2 === 0;
    return { output: right ? String(2 * n) : "?", tokenUsage: { total: 10 + n, prompt: 4, completion: 6 + n }, cost: 0.001 * n };
  }
};
END
cat > promptfooconfig.yaml <<'END'
prompts: ["twice {{n}}"]
providers:
  - {id: "file://provider.js", label: small, config: {step: 2}}
  - {id: "file://provider.js", label: large, config: {step: 3}}
tests:
  - {vars: {n: 1}, metadata: {decade: d0}, assert: [{type: equals, value: "2", metric: exact}]}
  - {vars: {n: 3}, metadata: {decade: d0}, assert: [{type: equals, value: "6", metric: exact}]}
  - {vars: {n: 6}, metadata: {decade: d1}, assert: [{type: equals, value: "12", metric: exact}]}
  - {vars: {n: 7}, metadata: {decade: d1}, assert: [{type: equals, value: "14", metric: exact}]}
END
npx promptfoo eval --repeat 2 --no-cache -j 1 --output promptfoo_0.121.20.json
