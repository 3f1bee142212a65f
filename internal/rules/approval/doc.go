// Package approval contains the rules for permissions: whether something that Claude wants
// to do may happen, and what a person's approval permits. It is pure: no store, no clock,
// no context. Callers load what it needs and store what it decides.
//
// The life of a permission:
//
//  1. Claude asks for an operation: an action of the job's kind, or a call of one
//     of the CLI's tools, with its input. OfAction and OfTool describe it, and Key
//     identifies it: two inputs with the same canonical JSON are the same.
//  2. The kind's front matter gates it: ToolRules for tools, Confirm for actions.
//     They allow it, ask a person, or deny it.
//  3. A standing approval that a person gave earlier may cover it: Standing.
//  4. Otherwise a person is asked (package checkpoint). Permit returns what their
//     approval permits: exactly this operation once, until it expires, or every call
//     that the same rule asks for, in this job or always.
//  5. The approval is stored under the key of the operation. The step that records
//     the run looks it up by that key and consumes it (package lifecycle: StartAction
//     for an action, UseApproval for a tool): it permits one run.
package approval
