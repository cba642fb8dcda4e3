// Package outfile writes files that appear complete or not at all, since a half-written document could be taken for
// a measurement. It opens a file's folder once, makes and renames the file in the opened folder, and changes the
// mode of the opened file. So a user who may write in the folder, and puts a symbolic link where the file was, has
// no other file opened or written.
package outfile
