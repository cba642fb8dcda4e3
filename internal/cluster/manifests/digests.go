package manifests

import (
	"crypto/sha256"
	"encoding/hex"
)

// Whoever may edit a test's namespace can delete the attempt's ConfigMap and make it again before a pod mounts
// it. So the program that reads a file of it has the file's digest among its arguments, which nobody can change
// in a pod, and uses no other file. A container of the author's template gets such a file only from an init
// container of linerate's that has checked it.

// fileArguments are the arguments that have the program read a file of the attempt's ConfigMap, of this text alone.
func fileArguments(flag, file, text string) []string {
	sum := sha256.Sum256([]byte(text))
	return []string{flag, file, flag + "-digest=sha256:" + hex.EncodeToString(sum[:])}
}
