// Package console is the face of Ringback for people: pages on which they see jobs, answer
// what Claude asks, review changes and steer them.
//
// # How it works
//
// Pages are rendered on the server. All that they show and all that they do is a call of
// the API in the name of whoever looks (see calls.go), so there is one set of rules, and
// nobody sees more than the API would show them. What a model or a user wrote is text:
// html/template escapes it by its context, Markdown goes through a sanitiser, what rendering
// costs is proportional to what is rendered (bounds.go, json.go, form.Schema.spend), and a strict
// Content-Security-Policy keeps scripts and styles out that are not ours.
//
// Reading and answering work without JavaScript: links, forms and POST. The modules in
// static/ add what a person notices who keeps a page open: it follows the jobs
// (live.js: an event on the WebSocket makes it fetch the page anew, and change what has
// changed), keys, times that run, notifications. A page that was away fetches itself when
// it is back, so there is no state that could be missed.
//
// Each change of a page goes through change.js. What somebody is filling in stays as it is
// (morph.js); what they have written is kept in the tab's storage, and shown where its form
// is gone (drafts.js); what they look at stays in its place (steady.js). Forms are sent
// without leaving the page (send.js), so that a refusal, or a server that is away, loses
// nothing. An element that a page has made itself is marked data-own: no change touches it.
//
// What cannot be shown or done is a page as well (refusal.go), also where there is no route.
//
// # Rules of design
//
// One column of at most 72rem, its parts stacked with one gap (--gap). Every part is a
// panel: a border, no shadow, no panel in a panel. Type has four sizes (--small, --text,
// --title, --figure) in the system's own fonts; code and ids are monospaced. Colours are
// variables of style.css, with one set for light and one for dark; text on its ground has
// a contrast of 4.5 at least, and no colour says anything that words do not say beside it.
// One accent, for what can be pressed; green, amber and red are for states alone, and
// charts have colours of their own (--c1 and on). A page
// has at most one filled button a panel: what is most likely wanted. What ends or refuses
// something is outlined in red and asks for nothing twice, for all of it can be read in
// the audit log. Targets are 24px at least, 44px on a phone. Focus is always seen. Empty
// places say what to do next, with a command to copy where there is one.
package console
