// Package walkthrough reads a page that leads its reader through steps, such as docs/sriov.md: what each step has
// its reader type, what that shows, and the files that its reader writes. A test that follows the page types the
// same.
package walkthrough
