// Package people groups the packages that ask and notify people. checkpoint asks a question, a confirmation, an
// approval or a review in the chat, and takes the reply; package intent in internal/rules reads its words.
// notify does what a transition has left to do elsewhere, so that a crash loses nothing: it notifies
// webhooks and Slack.
package people
