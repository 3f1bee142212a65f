// Scrolls the current tab into view if there is no room for all of them.
export function showCurrent() {
  for (const tab of document.querySelectorAll('.tabs [aria-current]')) {
    const tabs = tab.parentElement;
    const behind = tab.offsetLeft - tabs.offsetLeft + tab.offsetWidth - tabs.clientWidth;
    if (behind > tabs.scrollLeft) tabs.scrollLeft = behind + 24;
  }
}
