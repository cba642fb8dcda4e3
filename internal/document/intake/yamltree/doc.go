// Package yamltree reads YAML that others may have written. It bounds what YAML has before it is decoded, as intake
// does for JSON. An alias repeats what it names, so that a few lines may stand for gigabytes.
package yamltree
