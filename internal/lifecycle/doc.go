// Package lifecycle holds the rules for a job as a whole: how it is created,
// followed, steered, retried and cancelled, whoever asks. It decides, and the
// store commits what was decided in one atomic step.
//
// Every job begins here. Create makes one of what a caller asks for; Follow makes
// one that goes on with the conversation of a job that has ended, because its user
// has written since; Interpret makes one that says what a person's reply means,
// which only the server asks for. All three take what a kind says of its jobs from
// one function, newJob, so that they cannot differ in it.
//
// Later, Steer asks for another round of a change, Retry starts a job again that
// ended without a result, and Cancel ends one.
package lifecycle
