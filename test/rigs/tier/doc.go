// Package tier says in which of the two tiers of tests (docs/development.md) a test runs, how often it repeats what
// chance draws, and how much of a table it counts.
package tier
