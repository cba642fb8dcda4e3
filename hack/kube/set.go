package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// set is a directory of parts that are used together.
type set struct {
	parts []part
	key   func([]recipe) string
}

// sets are what can be asked for by name. Nothing assigns to it.
var sets = map[string]set{
	"api":     {parts: parts[:2], key: keyOfAPI},
	"cluster": {parts: parts, key: keyOfCluster},
	"kueue":   {parts: []part{kueue}, key: keyOfKueue},
}

// keyOfAPI names the server and its store by their versions.
func keyOfAPI(recipes []recipe) string {
	return "kube-" + recipes[0].version + "-" + recipes[1].name + "-" + recipes[1].version
}

// keyOfCluster names a set by Kubernetes' version and a hash of all parts' names and versions, which would be too long.
func keyOfCluster(recipes []recipe) string {
	hash := sha256.New()
	for _, r := range recipes {
		fmt.Fprintln(hash, r.key())
	}
	return fmt.Sprintf("cluster-%s-%x", recipes[0].version, hash.Sum(nil)[:6])
}

// keyOfKueue names its set by its version.
func keyOfKueue(recipes []recipe) string { return "set-" + recipes[0].key() }

// assemble makes the parts that aren't there, each under its own version, and then the set: a directory of
// links to them.
func (s store) assemble(key string, recipes []recipe) (string, error) {
	return s.get(key, func(into string) error {
		for _, r := range recipes {
			dir, err := s.get(r.key(), func(dir string) error { return r.make(dir, s.stderr) })
			if err != nil {
				return err
			}
			if err := os.Link(filepath.Join(dir, r.name), filepath.Join(into, r.name)); err != nil {
				return errors.Join(fmt.Errorf("put %s into %s", r.name, key), err)
			}
		}
		return nil
	})
}
