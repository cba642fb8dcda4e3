// Package surprise finds figures of a suite that go against expectation: a device that is faster with a filter than without, more loss at a smaller load. It is pure. What is expected follows from the
// tests' Plans alone, by the rules in rules.go; a sentence names both figures, and claims nothing about the cause.
package surprise
