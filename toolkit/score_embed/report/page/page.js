"use strict";
// What a page can do beside being read: sort and filter its tables, search, fold, copy. Nothing is read but the page.
(() => {
  const all = (what, within = document) => Array.from(within.querySelectorAll(what));
  const one = (what) => document.querySelector(what);
  const made = (name, text, of = {}) => Object.assign(document.createElement(name), { textContent: text }, of);
  for (const element of all(".tools, .filter, .chips")) element.hidden = false;

  // Light and dark -----------------------------------------------------------------------------------------------
  const themes = ["", "light", "dark"];
  one("#theme").addEventListener("click", () => {
    const root = document.documentElement;
    root.dataset.theme = themes[(themes.indexOf(root.dataset.theme || "") + 1) % themes.length];
  });

  // Tables -------------------------------------------------------------------------------------------------------
  const value = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.v ?? cell.textContent.trim();
  };
  const compare = (a, b) => {
    const numbers = [Number(a), Number(b)];
    return numbers.some(Number.isNaN) ? a.localeCompare(b, "en", { numeric: true }) : numbers[0] - numbers[1];
  };
  for (const table of all("table.sort")) {
    all("thead th", table).forEach((head, column) => {
      if (!head.textContent.trim() || head.classList.contains("none")) return;
      const button = made("button", head.textContent.trim(), { type: "button" });
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        all("thead th", table).forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = Array.from(table.tBodies[0].rows).map((row) => [value(row, column), row]);
        rows.sort((a, b) => (down ? -1 : 1) * compare(a[0], b[0]));
        table.tBodies[0].append(...rows.map(([, row]) => row));
      });
    });
  }
  const filter = (table) => {
    const of = (kind) => one(`.${kind}[data-for="${table.id}"]`);
    const words = (of("filter")?.querySelector("input").value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = all(`.chips[data-for="${table.id}"] [aria-pressed="true"]`).map((button) => button.dataset.reason);
    let left = 0;
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word)) || (chosen.length > 0 && !chosen.includes(row.dataset.reason));
      left += row.hidden ? 0 : 1;
    }
    const output = of("filter")?.querySelector("output");
    if (output) output.textContent = left === Number(output.dataset.all) ? output.dataset.all : `${left} of ${output.dataset.all}`;
  };
  for (const box of all(".filter")) {
    const table = document.getElementById(box.dataset.for);
    box.querySelector("input").addEventListener("input", () => filter(table));
  }
  for (const button of all(".chips[data-for] button")) {
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
      filter(document.getElementById(button.parentElement.dataset.for));
    });
  }

  // Places -------------------------------------------------------------------------------------------------------
  const show = (element) => {
    for (let at = element; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    element?.scrollIntoView({ block: "center" });
  };
  const follow = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target && target.closest("details")) show(target);
  };
  addEventListener("hashchange", follow);
  follow();
  const files = all("details.file");
  one("#open")?.addEventListener("click", () => {
    const close = files.every((file) => file.open);
    files.forEach((file) => { file.open = !close; });
    one("#open").textContent = close ? "Open all files" : "Close all files";
  });
  one("#fold")?.addEventListener("click", (event) => {
    const folded = one("#sources").classList.toggle("folded");
    event.target.setAttribute("aria-pressed", String(folded));
  });
  const next = () => {
    const gaps = all(".code .l.part, .code .l.none");
    const at = gaps.findIndex((line) => line.id === location.hash.slice(1));
    if (gaps.length) location.hash = gaps[(at + 1) % gaps.length].id;
  };
  one("#next")?.addEventListener("click", next);

  // Copies -------------------------------------------------------------------------------------------------------
  for (const command of all("code.run")) {
    const button = made("button", "Copy", { type: "button", className: "copy" });
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(command.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(command);
        button.textContent = "Selected";
      }
    });
    command.after(button);
  }

  // Search -------------------------------------------------------------------------------------------------------
  const box = one("#search");
  const hits = one("#hits");
  const MOST = 100;
  let places = null;
  const index = () => {
    places ??= [
      ...all(".bug").map((bug) => ["Bug", bug.querySelector("h3").textContent, bug.id]),
      ...all("#functions tbody tr").map((row) => ["Function", row.cells[0].textContent, row.querySelector("a")?.hash.slice(1) ?? "functions", row.cells[1].textContent.trim()]),
      ...all("details.file").map((file) => ["File", file.querySelector(".name").textContent, file.id]),
      ...all("#campaigns tbody tr").map((row) => ["Campaign", row.cells[0].textContent.trim(), "campaigns"]),
      ...all(".code .l").map((line) => [line, line.lastElementChild.textContent, line.id]),
    ].map((place) => [...place.slice(0, 3), place[1].toLowerCase(), place[3]]);
    return places;
  };
  const marked = (text, word) => {
    const code = document.createElement("code");
    const at = text.toLowerCase().indexOf(word);
    code.append(text.slice(0, at).trimStart(), made("mark", text.slice(at, at + word.length)), text.slice(at + word.length, at + 200));
    return code;
  };
  const search = () => {
    const word = box.value.trim().toLowerCase();
    hits.replaceChildren();
    hits.hidden = word.length < 2;
    if (hits.hidden) return;
    const found = index().filter((place) => place[3].includes(word));
    hits.append(made("p", found.length > MOST ? `${MOST} of ${found.length} places` : `${found.length} place${found.length === 1 ? "" : "s"}`));
    for (const [kind, text, id, , more] of found.slice(0, MOST)) {
      const link = made("a", "", { href: `#${id}` });
      const where = typeof kind === "string" ? [kind, more].filter(Boolean).join(" · ")
        : `${kind.closest("details").querySelector(".name").textContent}:${kind.firstElementChild.textContent}`;
      link.append(made("small", where), marked(text, word));
      hits.append(link);
    }
  };
  let later = 0;
  box.addEventListener("input", () => { clearTimeout(later); later = setTimeout(search, 80); });
  box.addEventListener("focus", search);
  hits.addEventListener("click", (event) => { if (event.target.closest("a")) hits.hidden = true; });
  document.addEventListener("click", (event) => { if (!event.target.closest(".find")) hits.hidden = true; });
  document.addEventListener("keydown", (event) => {
    const typing = ["INPUT", "TEXTAREA"].includes(event.target.tagName);
    if (event.key === "Escape") { hits.hidden = true; box.blur(); }
    else if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    else if (event.key === "/") { event.preventDefault(); box.focus(); }
    else if (event.key === "n") next();
  });
})();
