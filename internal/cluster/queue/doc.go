// Package queue decides whose turn it is if several LoadTests want the same devices. It is pure: from what the nodes have, who holds it and who wants
// it follows a turn for each test. Four promises hold, and are tested as properties:
//
//   - Namespaces take turns: each has one before any has its second, and within a namespace the oldest test is first.
//   - No test starves: a test overtakes one before it in line only with devices that are left over once that one has all that it wants.
//   - No device idles in vain: a test waits only for devices that others hold, or that are reserved for one before it.
//   - No test waits for unrelated ones: tests that want none of each other's devices don't affect each other.
//
// This package doesn't see devices that other people's pods hold. The scheduler does: a test whose pods it can't place gives all of them back for a
// while (Claim.RetryAt), and other tests may use what is free.
package queue
