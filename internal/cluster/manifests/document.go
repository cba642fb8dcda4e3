package manifests

import "encoding/json"

// document is a value as JSON with indentation. It ignores errors, which can't happen, since JSON can hold all our
// values.
func document(v any) string {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return ""
	}
	return string(text) + "\n"
}

// compact is such a value in one line.
func compact(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}
