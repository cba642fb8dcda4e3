// Package published writes what tests measured into the pages of docs/measured/, with what it was measured on:
// tests with the flag -table do.
package published
