// Package turn groups the packages that run Claude. A turn is one run of the CLI for a job.
//
// runner takes a job, prepares it and starts the CLI, and ends the turn. claude knows the CLI: its flags,
// its settings, the prompt, what it prints. Its requests to the model's API pass meter, which counts and
// limits what they cost, and upstream. It works on clones of repositories that workspace makes, and review
// takes the change from there to a person and to its repositories. action runs a kind's actions, artifact
// keeps the files that a turn leaves, and forbidden lists what no permission covers.
package turn
