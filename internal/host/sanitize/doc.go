// Package sanitize is what output goes through on its way to a terminal, a log or a file. Names and messages in a
// document may come from anywhere, and must not drive a terminal, command the program that reads a log, or look
// like what they aren't. Writer is for all text, JSON for documents that are JSON, and Markdown for words in a
// comment.
package sanitize
