package collect

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// mostCredential is more than a certificate authority's bundle has, in bytes.
const mostCredential = 1 << 20

// Folder holds credentials as a cluster mounts Secrets (FOLDER/SECRET/KEY). An empty Folder has none.
type Folder string

// Keys are all keys of Secrets that are read.
var Keys = []string{keyUser, keyPassword, keyToken, keyCommunity, keyAuthority, keyServerName, keyFingerprint,
	keyPrivateKey, keyKnownHosts,
	keyAuthPassword, keyAuthProtocol, keyPrivPassword, keyPrivProtocol}

// secret is one Secret of a Folder. The zero value shows nothing.
type secret struct {
	name   string
	folder string // the folder that it is in, empty without a Folder
}

func (f Folder) secret(name string) secret {
	if name == "" || f == "" {
		return secret{name: name}
	}
	return secret{name: name, folder: string(f) + "/" + name}
}

// value is a key's value, empty where the Secret lacks the key. The error names the Secret, and never its content.
func (s secret) value(key string) (string, error) {
	if s.name == "" {
		return "", nil
	}
	if s.folder == "" {
		return "", fmt.Errorf("secret %s: nobody said where it is: give --credentials a folder that has %s/%s", s.name,
			s.name, key)
	}
	root, err := os.OpenRoot(s.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("secret %s isn't there", s.name)
	}
	if err != nil {
		return "", fmt.Errorf("secret %s: %w", s.name, err)
	}
	defer func() { _ = root.Close() }()
	file, err := root.Open(key)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("secret %s: %w", s.name, err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, mostCredential))
	if err != nil {
		return "", fmt.Errorf("secret %s: %w", s.name, err)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// values are several keys'.
func (s secret) values(keys ...string) (map[string]string, error) {
	values := map[string]string{}
	for _, key := range keys {
		value, err := s.value(key)
		if err != nil {
			return nil, err
		}
		values[key] = value
	}
	return values, nil
}

// shown says whose credentials were shown, for an answer that refuses them.
func (s secret) shown() string {
	if s.name == "" {
		return "no credentials were shown: name a Secret as secretName"
	}
	return "it doesn't take what secret " + s.name + " has"
}
