// Opens the list of contents where there is room beside the report, and the folds
// that hide the target of a link.

const contents = document.querySelector("nav.contents details");
if (contents) {
  const wide = matchMedia("(min-width: 1100px)");
  const fit = () => { contents.open = wide.matches; };
  fit();
  wide.addEventListener("change", fit);
  contents.addEventListener("click", (event) => {
    if (event.target.matches("a") && !wide.matches) contents.open = false;
  });
  // The section in view is marked.
  const links = new Map([...contents.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
  const mark = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      links.get(target.id || "top")?.toggleAttribute("aria-current", isIntersecting);
    }
  }, { rootMargin: "-10% 0px -80% 0px" });
  for (const section of document.querySelectorAll("main > header, main > section[id]")) mark.observe(section);
}

const unfold = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = target; at; at = at.parentElement) {
    if (at.matches("details")) at.open = true;
  }
  if (target) target.scrollIntoView();
};
addEventListener("hashchange", unfold);
if (location.hash.length > 1) unfold();

