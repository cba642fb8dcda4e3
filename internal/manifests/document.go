package manifests

import "encoding/json"

// document is a value as JSON that people can read, too. It is for what can't fail: none of our values holds what JSON can't.
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
