// Package rules groups the packages that decide what may happen. None of them uses Redis, HTTP, a clock or a
// process: callers pass in everything that they need.
//
// lifecycle has the rules for a job, from its creation to its end. kind reads what a kind of job is from
// its files: prompt, policy, conditions. approval decides what needs a person's yes, and what a yes covers;
// condition evaluates the expressions in both. schema checks data against JSON Schemas and explains what is
// wrong with them. intent interprets the words of a reply.
package rules
