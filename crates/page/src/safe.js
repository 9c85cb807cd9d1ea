
/// Shows the constraints of a case, in one version of the file.
function showCase(version, index) {
  const cases = data.versions[version];
  index = Math.min(index, cases.length - 1);
  const count = data.versions.length;
  const slider = element("input", { type: "range", min: 1, max: count, value: version + 1, "aria-label": "Version",
    onchange: () => { showCase(Number(slider.value) - 1, index); document.querySelector("input[aria-label=Version]").focus(); } });
  const parts = [element("h1", {}, "Safe schedules of " + data.program),
    count > 1 ? element("p", { class: "controls" }, "Version " + (version + 1) + " of " + count + " ", slider) : null,
    cases.length > 1 ? element("ul", { class: "failures", "aria-label": "Inputs" }, ...cases.map((other, number) => element("li", {},
      element("button", { type: "button", "aria-pressed": String(number === index), onclick: () => showCase(version, number) }, other.condition))))
      : null];
  const shown = cases[index];
  if (!shown) {
    parts.push(element("p", {}, "Nothing has been verified yet."));
  } else {
    parts.push(element("p", { role: "status" }, shown.headline));
    if (shown.diagram.rows.length) {
      const stepper = new Stepper(shown.diagram, { tellsStates: false });
      parts.push(stepper.node("Order that a run must keep"));
      stepper.go(0, false);
      window.stepper = stepper;
    } else {
      parts.push(element("p", {}, "No constraints are left: a run may use any schedule."));
    }
  }
  parts.push(element("details", {}, element("summary", {}, "As text"), element("pre", {}, data.text)));
  main.replaceChildren(...parts.filter(Boolean));
}

document.title = "Safe schedules of " + data.program;
showCase(data.versions.length - 1, 0);
