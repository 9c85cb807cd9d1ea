const { report, repairs, text } = data;

/// Shows a failure, and the execution that shows it.
function failure(index) {
  const found = report.errors[index];
  const section = element("div", {},
    element("h2", { class: "bad" }, kinds(found.kind)),
    element("pre", {}, found.message),
    found.location ? element("p", { class: "mono faint" }, found.location) : null,
    source(found.location),
    found.repeat_with ? element("p", {}, "Repeat it: ", element("code", {}, found.repeat_with)) : null);
  if (found.interleaving.rows.length) {
    if (found.why) section.append(why(found));
    if (repairs[index]) section.append(element("p", { class: "why" }, repairs[index]));
    const stepper = new Stepper(found.interleaving);
    section.append(stepper.node("The execution that fails"));
    stepper.go(stepper.current, false);
    window.stepper = stepper;
    if (found.passing) section.append(passing(found));
  }
  return section;
}

/// Explains in one sentence why it fails.
function why(found) {
  const { rows, threads } = found.interleaving;
  const told = (number) => {
    const row = rows[number];
    return [element("code", {}, row.text), " of " + threads[row.thread] + (row.location ? " (" + shortPlace(row.location) + ")" : "")];
  };
  const pairs = found.why.pairs.flatMap((pair, number) => [number ? ", and " : "", ...told(pair.first), " comes before ", ...told(pair.second)]);
  const count = (number, one, many) => number + " " + (number === 1 ? one : many);
  return element("p", { class: "why" }, element("strong", {}, "In the executions seen, it fails whenever "), ...pairs, ". ",
    element("span", { class: "faint" }, count(found.why.failing, "execution like this was seen and fails", "executions like this were seen and fail")
      + ", " + count(found.why.passing, "other execution passes.", "other executions pass.")));
}

/// Shows the most similar passing execution, with a mark at the first event that differs.
function passing(found) {
  const section = element("details", {}, element("summary", {}, element("h2", { class: "good inline" }, "A passing execution")));
  const stepper = new Stepper(found.passing);
  const same = (one, other) => one && other && one.text === other.text
    && found.interleaving.threads[one.thread] === found.passing.threads[other.thread];
  let first = 0;
  while (first < found.passing.rows.length && same(found.interleaving.rows[first], found.passing.rows[first])) first++;
  if (first < found.passing.rows.length) {
    stepper.mark(first, "first difference");
    section.append(element("p", {}, "Of the passing executions seen, this one has the most events in common with the failing one. They differ from event "
      + (first + 1) + " on: ", element("button", { type: "button", onclick: () => stepper.go(first) }, "go there")));
  }
  section.append(stepper.node("The most similar execution that passes"));
  stepper.go(Math.min(first, found.passing.rows.length - 1), false);
  return section;
}

function list(title, items) {
  return items.length ? element("div", {}, element("h3", {}, title), element("ul", {}, ...items.map((item) => element("li", {}, item)))) : null;
}

/// Shows the numbers of the search.
function search() {
  const count = (number) => Number(number).toLocaleString("en");
  const numbers = [
    ["complete executions", count(report.executions)], ["halted executions", count(report.halted)],
    ["redundant executions, cut short", count(report.blocked)], ["deadlocked executions", count(report.deadlocks)],
    ["executions before the search restarted", count(report.given_up)], ["events", count(report.events)],
    ["events in the longest execution", count(report.max_depth)], ["algorithm", report.algorithm.replaceAll("_", "-")],
    ["jobs", count(report.jobs)], ["seconds", report.elapsed_s.toFixed(3)],
    ["executions per second", count(Math.round((report.executions + report.halted + report.blocked) / Math.max(report.elapsed_s, 1e-3)))], ["memory", (report.peak_rss_bytes / 1e6).toFixed(1) + " MB"],
  ];
  const rows = numbers.map(([name, value]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value)));
  return element("section", {}, element("h2", {}, "The search"),
    list("Not explored", report.bounds),
    list("Accepted", report.accepted.map((left) => left.what)),
    list("Warnings", report.warnings),
    list("Goals", report.goals.map((goal) => goal.name + " (" + goal.location + "): " + (goal.reached ? "reached" : "not reached"))),
    element("table", { class: "numbers" }, element("tbody", {}, ...rows)),
    report.tree ? drawTree(report.tree) : null,
    report.tree ? list(report.tree.is_whole ? "Lines that no execution reached" : "Lines that none of these executions reached", report.tree.unreached || []) : null,
    list("Lines that raced", report.coverage.lines.slice(0, 50).map((line) => line.location + ": " + count(line.races))),
    element("details", {}, element("summary", {}, "The report as text"), element("pre", {}, text)));
}

function show(index) {
  const tabs = report.errors.length > 1
    ? element("ul", { class: "failures", "aria-label": "Distinct failures" }, ...report.errors.map((other, number) => element("li", {},
      element("button", { type: "button", "aria-pressed": String(number === index), onclick: () => show(number) },
        (number + 1) + ". " + kinds(other.kind) + (other.location ? " at " + shortPlace(other.location) : "")))))
    : null;
  const verdict = { bug: "bad", verified: "good", bounded: "bounded" }[report.verdict];
  const parts = [element("h1", { class: verdict }, text.split("\n", 1)[0]), tabs,
    report.errors.length ? failure(index) : null, search()];
  main.replaceChildren(...parts.filter(Boolean));
}

document.title = text.split("\n", 1)[0];
show(0);
