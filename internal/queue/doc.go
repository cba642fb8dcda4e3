// Package queue decides whose turn it is where LoadTests want the same devices, purely: from what the nodes have, who holds it and who wants
// it, to a turn for each test. Three promises hold, and are tried as properties:
//
//   - Nobody starves: who is older is served first, and a younger test goes before an older one only with what is left over once the older
//     one has all that it wants.
//   - Nothing idles in vain: a test waits only for devices that it can't have, or that an older one is to have.
//   - Nobody waits for strangers: tests that want none of each other's devices don't know of one another.
//
// What pods of other people hold can't be seen here. The scheduler sees it: a test whose pods it can't place gives all of them back for a
// while (Claim.RetryAt), and others may use what is free.
package queue
