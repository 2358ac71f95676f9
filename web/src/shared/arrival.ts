/** The page that is shown, by its path. */
let path = window.location.pathname;
/** Whether a link was followed to a page that has not taken the focus yet. */
let isAwaited = false;

/** Where one types or answers a question, the focus stays. */
const BUSY = 'input, textarea, select, [contenteditable="true"], [role="dialog"]';

// By the events of the router. The browser itself goes back and forth: it knows where one was on the page.
for (const type of ['pushState', 'replaceState', 'popstate'])
  window.addEventListener(type, () => {
    if (type === 'popstate') isAwaited = false;
    else if (type === 'pushState' && window.location.pathname !== path) isAwaited = true;
    path = window.location.pathname;
  });

/** A page that a link led to begins at its top and with its heading, for the eye as for the keyboard. */
export function arriveAt(heading: HTMLElement | null): void {
  if (!isAwaited || heading === null) return;
  window.scrollTo(0, 0);
  if (document.activeElement?.closest(BUSY) == null) heading.focus({ preventScroll: true });
  isAwaited = false;
}
