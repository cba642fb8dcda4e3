// Package sanitizetest has what hostile documents say, and finds it in output.
package sanitizetest
