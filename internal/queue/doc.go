// Package queue decides whose turn it is where LoadTests want the same devices, purely: from what the nodes have, who holds it and who wants
// it, to a turn for each test. Four promises hold, and are tried as properties:
//
//   - Namespaces take turns: each has one before any has its second, and within a namespace who is older is served first.
//   - Nobody starves: a test goes before one that stands before it in line only with what is left over once that one has all that it wants.
//   - Nothing idles in vain: a test waits only for devices that it can't have, or that one before it is to have.
//   - Nobody waits for strangers: tests that want none of each other's devices don't know of one another.
//
// What pods of other people hold can't be seen here. The scheduler sees it: a test whose pods it can't place gives all of them back for a
// while (Claim.RetryAt), and others may use what is free.
package queue
