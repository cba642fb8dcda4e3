package delivery

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/linerate-dev/linerate/internal/document/intake"
)

// KeyProgress is the key of a Progress in its ConfigMap, as text that kubectl shows.
const KeyProgress = "progress.json"

// The bounds of a Progress, since every watcher gets each of its many versions.
const (
	mostMessage  = 1 << 10
	mostLostRuns = 20
	mostProgress = 64 << 10
)

// EncodeProgress is the data of the ConfigMap. It fills in the version, and cuts a message or list that is too
// long.
func EncodeProgress(p Progress) (map[string]string, error) {
	p.Version = ProgressVersion
	p.Message = cut(p.Message)
	p.LostRuns = append([]string(nil), p.LostRuns[max(0, len(p.LostRuns)-mostLostRuns):]...)
	for i, lost := range p.LostRuns {
		p.LostRuns[i] = cut(lost)
	}
	document, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode progress: %w", err)
	}
	return map[string]string{KeyProgress: string(document)}, nil
}

// cut shortens a text to what a Progress may carry, between two characters.
func cut(text string) string {
	if len(text) <= mostMessage {
		return text
	}
	end := mostMessage - len("…")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// DecodeProgress reads what EncodeProgress wrote. It is nil without an error where no runner has written yet.
func DecodeProgress(data map[string]string) (*Progress, error) {
	text, written := data[KeyProgress]
	if !written {
		return nil, nil // there is none, which is no error
	}
	if len(text) > mostProgress {
		return nil, fmt.Errorf("%s: it has more than %d bytes, more than any runner writes", KeyProgress, mostProgress)
	}
	p := new(Progress)
	if err := decode([]byte(text), p, ProgressVersion); err != nil {
		return nil, fmt.Errorf("%s: %w", KeyProgress, err)
	}
	return p, nil
}

// ReadProgress is DecodeProgress of a directory that the ConfigMap is mounted at, which is empty where there was none.
func ReadProgress(dir fs.FS) (*Progress, error) {
	text, err := intake.TextFileOf(dir, KeyProgress, mostProgress)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // no runner has written yet, which is no error
	}
	if err != nil {
		return nil, err
	}
	return DecodeProgress(map[string]string{KeyProgress: string(text)})
}

// TrimProgress is the part of a ConfigMap's data that DecodeProgress needs, to save memory. A text that is too long
// is cut, but still too long.
func TrimProgress(data map[string]string) map[string]string {
	text, written := data[KeyProgress]
	if !written {
		return nil
	}
	if len(text) > mostProgress {
		text = strings.Clone(text[:mostProgress+1]) // a copy, so that the rest can be freed
	}
	return map[string]string{KeyProgress: text}
}
