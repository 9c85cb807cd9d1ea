
/// The constraints of a case.
function showCase(index) {
  const shown = data.cases[index];
  const tabs = data.cases.length > 1
    ? element("ul", { class: "failures", "aria-label": "Inputs" }, ...data.cases.map((other, number) => element("li", {},
      element("button", { type: "button", "aria-pressed": String(number === index), onclick: () => showCase(number) }, other.condition))))
    : null;
  const parts = [element("h1", {}, "Which schedules of " + data.program + " are safe"), tabs, element("p", {}, shown.headline)];
  if (shown.diagram.rows.length) {
    const stepper = new Stepper(shown.diagram, { tellsStates: false });
    parts.push(stepper.node("What a run keeps to"));
    stepper.go(0, false);
    window.stepper = stepper;
  } else {
    parts.push(element("p", {}, "A run may do what it likes: nothing is left to keep to."));
  }
  parts.push(element("details", {}, element("summary", {}, "As text"), element("pre", {}, data.text)));
  main.replaceChildren(...parts.filter(Boolean));
}

document.title = "Safe schedules of " + data.program;
if (data.cases.length) showCase(0);
else main.append(element("h1", {}, document.title), element("p", {}, "Nothing is verified so far."));
