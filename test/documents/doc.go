// Package documents holds docs/ to what there is: where a page names a test as its proof, the test must exist.
package documents
