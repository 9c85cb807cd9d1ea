
const program = data.program;
/// The server's last answer: the current position of the execution.
let position = null;
/// The schedules of earlier positions, from which steps were taken. `undo` returns to them.
let before = [];
const told = element("p", { role: "status", "aria-live": "polite" });
const complaint = element("p", { role: "alert", class: "bad" });
const threads = element("section", { "aria-label": "Possible next steps" });
const diagram = element("div");
const watched = element("section", { "aria-label": "Search" });
/// The tree of the search, drawn once while it runs and again at its end.
const tree = element("div");

/// Sends a request to the server. Returns null if that fails.
async function ask(path, request) {
  try {
    const options = request === undefined ? {} : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(request) };
    const response = await fetch(path, options);
    const text = await response.text();
    if (response.ok) return JSON.parse(text);
    complain(response.headers.get("content-type")?.includes("json") ? JSON.parse(text).error : text || response.statusText);
  } catch (error) {
    complain("No answer: is `mazurka explore` still running? (" + error.message + ")");
  }
  return null;
}

function complain(text) {
  complaint.textContent = text;
}

/// The number of requested positions. Only the answer to the last request counts.
let questions = 0;

/// Shows the position that a schedule leads to. `visit` adds fields to the request, for example
/// `reverse`. The position shown before is kept for `undo`, unless `undo` itself makes this call
/// (`isUndone`).
async function visit(schedule, visit = {}, isUndone = false) {
  const question = ++questions;
  complain("");
  const answer = await ask("position", { schedule, ...visit });
  if (!answer || question !== questions) return;
  if (isUndone) before.pop();
  else if (position) before.push(position.schedule);
  position = answer.position;
  position.file = answer.file;
  sources = answer.sources;
  draw();
}

/// Returns the steps of a schedule, one by one.
const steps = (schedule) => schedule.steps.flatMap((run) => run.choices.map((choice) => ({ thread: run.thread, choices: [choice] })));
const withSteps = (schedule, own) => ({ ...schedule, steps: own });

function choose(thread, choice) {
  const own = steps(position.schedule);
  own.push({ thread, choices: [choice] });
  visit(withSteps(position.schedule, own));
}

/// Goes to the beginning of the execution up to a row of the diagram.
function cut(row) {
  const kept = position.rows.filter((own) => own <= row).length;
  visit(withSteps(position.schedule, steps(position.schedule).slice(0, kept)));
}

/// Shows the threads with their next operations.
function next() {
  const names = position.execution.threads;
  const card = (standing, column) => {
    const offers = standing.offers.map((offer) => element("button", { type: "button", class: "offer",
      "data-thread": names[column], onclick: () => choose(standing.thread, offer.choice) },
      element("code", {}, offer.text), " ", element("span", { class: "place faint" }, shortPlace(offer.location))));
    const waits = offers.length ? null : element("span", { class: "faint" }, position.execution.ends[column] || "has ended");
    return element("li", {}, element("strong", {}, names[column]), " ", ...offers, waits);
  };
  threads.replaceChildren(element("h2", {}, "Possible next steps"),
    element("ul", { class: "threads" }, ...position.threads.map(card)));
}

/// Returns the pairs of events that can be reversed.
function pairs() {
  const { rows, threads, races } = position.execution;
  const name = (row) => threads[rows[row].thread] + ": " + rows[row].text;
  const item = (pair) => element("li", {},
    element("button", { type: "button", onclick: () => visit(position.schedule, { reverse: pair }) }, "Reverse"),
    " " + name(pair.first) + " came before " + name(pair.second));
  const shown = races.slice(0, 50);
  return shown.length ? element("details", { open: true }, element("summary", {}, "What if the second event had come first?"),
    element("ul", {}, ...shown.map(item)), races.length > 50 ? element("p", { class: "faint" }, (races.length - 50) + " more") : null) : null;
}

function draw() {
  const failure = position.failure;
  told.className = failure ? "bad" : position.is_halted ? "bounded" : position.is_over ? "good" : "";
  told.textContent = failure ? kinds(failure.kind) + ": " + failure.message + (failure.location ? " at " + failure.location : "")
    : position.is_halted ? "A thread was stopped at an assumption, at a bound or in a spin loop: its next steps are unknown."
    : position.is_over ? "The execution has ended, and nothing failed."
    : position.rows.length + (position.rows.length === 1 ? " operation so far." : " operations so far.");
  next();
  diagram.replaceChildren();
  if (position.execution.rows.length) {
    // A thread's next operation is shown with its result.
    const ends = position.threads.map((standing, column) => standing.offers.length ? "can continue: " + standing.offers[0].text : position.execution.ends[column]);
    const stepper = new Stepper({ ...position.execution, ends }, { tellsEnds: position.is_over });
    const here = element("button", { type: "button", onclick: () => cut(stepper.current) }, "Continue from this event");
    stepper.side.prepend(here);
    diagram.append(stepper.node("The execution so far"), ...[pairs()].filter(Boolean));
    stepper.go(failure ? stepper.current : position.execution.rows.length - 1, false);
    window.stepper = stepper;
  }
  document.title = (failure ? kinds(failure.kind) + " · " : "") + program + " · Mazurka";
}

function save() {
  if (!position) return complain("There is no schedule to save yet.");
  const link = element("a", { href: URL.createObjectURL(new Blob([position.file], { type: "application/json" })), download: program.split("/").pop() + ".schedule.json" });
  link.click();
  URL.revokeObjectURL(link.href);
}

async function open(file) {
  complain("");
  const answer = file && await ask("open", { text: await file.text() });
  if (answer) await visit(answer.schedule);
}

function undo() {
  if (before.length) visit(before.at(-1), {}, true);
}

/// The number of executions of the search at a number of seconds since its start.
let samples = [];

/// Draws how the number of executions has grown.
function growth() {
  if (samples.length < 2) return "";
  const [seconds, executions] = samples.at(-1);
  const points = samples.map(([second, count]) => (second / seconds * 300).toFixed(1) + "," + (50 - count / Math.max(executions, 1) * 48).toFixed(1));
  return svg("svg", { class: "growth", viewBox: "0 0 300 52", width: 300, height: 52, role: "img", "aria-label": "Executions over time" },
    svg("polyline", { points: points.join(" ") }));
}

/// Shows the progress of the search.
async function watch() {
  const answer = await ask("search");
  if (!answer) return;
  const parts = [element("h2", {}, "Search")];
  if (answer.state === "idle") {
    parts.push(element("button", { type: "button", onclick: async () => { samples = []; tree.replaceChildren(); if (await ask("search", {})) watch(); } }, "Search all interleavings"));
  } else if (answer.state === "runs") {
    parts.push(element("p", {}, (answer.line || "starting") + " · " + answer.elapsed_s.toFixed(1) + " s"));
    const count = /^([\d,]+) execution/.exec(answer.line);
    if (count) samples.push([answer.elapsed_s, Number(count[1].replaceAll(",", ""))]);
    parts.push(growth());
    if (answer.tree && !tree.hasChildNodes()) tree.append(drawTree(answer.tree) || "");
    setTimeout(watch, 300);
  } else if (answer.error) {
    parts.push(element("p", { class: "bad" }, answer.error));
  } else {
    parts.push(...answer.failures.map((failure) => element("p", {},
      element("button", { type: "button", onclick: () => visit(failure.schedule) }, "Show"), " " + kinds(failure.kind) + ": " + failure.message)),
      element("details", {}, element("summary", {}, answer.text.split("\n", 1)[0]), element("pre", {}, answer.text)));
    tree.replaceChildren((answer.tree && drawTree(answer.tree)) || "");
  }
  watched.replaceChildren(...parts);
}

const button = (label, act) => element("button", { type: "button", onclick: act }, label);
const input = element("input", { type: "file", accept: ".json", "aria-label": "Open a schedule", onchange: () => { open(input.files[0]); input.value = ""; } });
main.append(element("h1", {}, "Explore " + program),
  element("div", { class: "controls" },
    button("Start again", () => visit(null)),
    button("Undo", undo),
    button("Run to the end", () => visit(position && position.schedule, { runs_on: true })),
    button("Save the schedule", save),
    element("label", {}, "Open a schedule ", input)),
  told, complaint, threads, diagram, watched, tree);
visit(data.schedule);
watch();
