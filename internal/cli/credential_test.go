package cli

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/linerate-dev/linerate/internal/host/credential"
)

func TestAServersSecretIsMadeOnceAndForItsOwnerAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "linerate", "secret")
	v, err := guardOptions{secretFile: file}.verify(io.Discard, ":4501")
	if err != nil || v.IsZero() {
		t.Fatal(err)
	}
	if second, err := (guardOptions{secretFile: file}).verify(io.Discard, ":4501"); err != nil || second != v {
		t.Errorf("the next server has another secret, or none: %v", err)
	}
	if key, err := readSecret(file); err != nil || key.Verifier() != v {
		t.Errorf("a client has another secret, or none: %v", err)
	}
	for path, want := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	flag := credential.New().Verifier()
	if got, err := (guardOptions{verifier: flag, secretFile: file}).verify(io.Discard, ":4501"); err != nil || got != flag {
		t.Errorf("with --verifier: %v", err)
	}
	var stderr strings.Builder
	if open, err := (guardOptions{open: true, use: "make this machine send"}).verify(&stderr, ":4501"); err != nil || !open.IsZero() ||
		!strings.Contains(stderr.String(), "whoever reaches :4501 can make this machine send") {
		t.Errorf("%v, and it said %q", err, stderr.String())
	}
}

// Whoever reaches a generator without a secret makes its machine send.
func TestAServerThatOthersReachDemandsASecret(t *testing.T) {
	for address, refused := range map[string]bool{":4501": true, "192.0.2.11:4501": true, "[2001:db8::1]:4501": true,
		"127.0.0.1:4501": false, "localhost:4501": false, "[::1]:4501": false} {
		_, err := (guardOptions{use: "make this machine send"}).verify(io.Discard, address)
		if refused != (err != nil && strings.Contains(err.Error(), "name a secret (--secret-file), or add --open")) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// Two hosts and the runner have one secret, also where none of them has a file of it.
func TestASecretInTheEnvironmentIsTheServersAndTheClients(t *testing.T) {
	key := credential.New()
	text, _ := key.MarshalText()
	t.Setenv(secretVariable, string(text)+"\n")
	v, err := (guardOptions{secretFile: autoSecret}).verify(io.Discard, ":4501")
	if client, clientErr := clientKey(autoSecret); err != nil || clientErr != nil || v != key.Verifier() || client != key {
		t.Errorf("the server's: %v, the client's: %v", err, clientErr)
	}
	if _, err := clientKey(filepath.Join(t.TempDir(), "other")); err == nil {
		t.Error("the environment's is taken for that of a file that was named")
	}
	t.Setenv(secretVariable, "secret")
	if _, err := clientKey(autoSecret); err == nil || strings.Contains(err.Error(), "secret\"") ||
		!strings.Contains(err.Error(), secretVariable) {
		t.Errorf("a word that is no key: %v", err)
	}
}

func TestServersThatStartAtOnceHaveOneSecret(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	verifiers := make([]credential.Verifier, 20)
	var starting sync.WaitGroup
	for i := range verifiers {
		starting.Go(func() {
			var err error
			if verifiers[i], err = (guardOptions{secretFile: file}).verify(io.Discard, ":4501"); err != nil {
				t.Error(err)
			}
		})
	}
	starting.Wait()
	if len(slices.Compact(verifiers)) != 1 {
		t.Error("they have different secrets")
	}
	if entries, err := os.ReadDir(filepath.Dir(file)); err != nil || len(entries) != 1 {
		t.Errorf("they left %v, %v", entries, err)
	}
}

// A secret that others could know, or that never comes, guards nothing.
func TestASecretThatOthersMayKnowIsRefused(t *testing.T) {
	key, _ := credential.New().MarshalText()
	for name, c := range map[string]struct {
		make    func(path string) error
		message string
	}{
		"that others may read": {func(path string) error { return os.WriteFile(path, key, 0o644) },
			"others may read or write"},
		"that others may write": {func(path string) error { return os.WriteFile(path, key, 0o600) },
			"others may read or write"},
		"of too few bytes": {func(path string) error { return os.WriteFile(path, key[:20], 0o600) },
			"is 32 bytes as base64url"},
		"of zeros": {func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("A", 43)),
				0o600)
		}, "empty of randomness"},
		"in a pipe":   {func(path string) error { return syscall.Mkfifo(path, 0o600) }, "is no file"},
		"in a folder": {func(path string) error { return os.Mkdir(path, 0o700) }, "is no file"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "secret")
			err := c.make(file)
			if err == nil && strings.Contains(name, "write") {
				err = os.Chmod(file, 0o620)
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := (guardOptions{secretFile: file}).verify(io.Discard, ":4501"); err == nil ||
				!strings.Contains(err.Error(), c.message) || strings.Contains(err.Error(), string(key)) {
				t.Errorf("%v, want %q", err, c.message)
			}
		})
	}
	if os.Geteuid() != 0 {
		return // files of others can't be made
	}
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, key, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(file, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if _, err := readSecret(file); err == nil || !strings.Contains(err.Error(), "belongs to user 65534") {
		t.Errorf("of another user: %v", err)
	}
}
