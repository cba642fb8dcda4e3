// Package realpackets holds the tests that send real packets through the real kernel with the built command
// line. They need root (or a kernel that lets users make namespaces) and fail in CI where they can't run.
package realpackets
