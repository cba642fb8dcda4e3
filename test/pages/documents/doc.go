// Package documents checks docs/ against the code: where a page names a test as its proof, the test must exist.
package documents
