// Package console serves the pages on which people see jobs, answer Claude's questions, review
// changes and steer them.
//
// # How it works
//
// Pages are rendered on the server. Everything that they show or do is a call of the API with the
// visitor's credential (visit.api), so there is one set of rules, and a page shows nothing that
// the API would not. Text from a model or a user stays text: html/template escapes it by context,
// Markdown is rendered without its HTML (markdown.go), the cost of rendering is proportional to
// what is rendered (boundedParser, extentOf, form.Schema.spend), and a strict Content-Security-Policy
// blocks scripts and styles that are not ours.
//
// Reading and answering work without JavaScript: links, forms and POST. The modules in static/ add
// what matters to a person who keeps a page open: live updates (live.js: an event on the WebSocket
// makes the page fetch itself again and apply the differences), keyboard shortcuts, running times,
// notifications. A page that was offline fetches itself when it is back online, so it cannot miss
// any state.
//
// Each change of a page goes through change.js. A form that the person is filling in stays as it is
// (morph.js); written text is kept in the tab's storage, and shown if its form is gone (drafts.js);
// what the person is looking at keeps its position (steady.js). Forms are sent without leaving the
// page (send.js), so that neither a refusal nor an unavailable server loses input. An element that
// the page itself has made is marked data-own: updates do not touch it.
//
// What cannot be shown or done is a page, too (refusal.go), even if there is no such route.
//
// # Design rules
//
// One column of at most 72rem, its parts stacked with one gap (--gap). Every part is a panel: a
// border, no shadow, no panel in a panel. Type has four sizes (--small, --text, --title, --figure)
// in the system's own fonts; code and IDs are monospaced. Colours are variables of style.css, with
// one set for light and one for dark; text has a contrast of at least 4.5 with its background, and
// everything that a colour means is also written. One accent, for what can be pressed; green, amber
// and red are for states alone, and charts have separate colours (--c1 and on). A panel has at most
// one filled button: the most likely action. An action that ends or refuses something is outlined
// in red and does not ask for confirmation, because the audit log records it. Targets are at least
// 24px, 44px on a phone. Focus is always visible. Empty places describe what to do next, with a
// command to copy if there is one.
package console
