// Package surprise finds figures of a suite that go against expectation, such as a device that is faster with a
// filter than without, or more loss at a smaller load. It is pure. Expectations follow from the tests' Plans alone,
// by the rules in rules.go. A sentence names both figures, and claims nothing about the cause.
package surprise
