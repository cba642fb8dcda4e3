package main

import (
	"fmt"
	"strings"
	"text/template"
)

// krewManifest fills in krew's manifest: the version, and the sum of each architecture's archive. The template
// calls for an archive as krew's release bot has it called for, by addURIAndSha, so that either can fill it in.
func krewManifest(text, version string, sums map[string]string) (string, error) {
	// it is within an argument, where the template language can't be used
	inner := strings.ReplaceAll(text, `/download/{{ .TagName }}/`, `/download/`+version+`/`)
	manifest, err := template.New("krew").Funcs(template.FuncMap{"addURIAndSha": func(uri, _ string) (string, error) {
		for architecture, sum := range sums {
			if strings.HasSuffix(uri, "/"+archiveName(architecture)) {
				return "uri: " + uri + "\n    sha256: " + sum, nil
			}
		}
		return "", fmt.Errorf("%s is no archive of this release", uri)
	}}).Parse(inner)
	if err != nil {
		return "", fmt.Errorf("hack/krew/linerate.yaml: %w", err)
	}
	var filled strings.Builder
	if err := manifest.Execute(&filled, map[string]string{"TagName": version}); err != nil {
		return "", fmt.Errorf("hack/krew/linerate.yaml: %w", err)
	}
	_, withoutRemarks, _ := strings.Cut(filled.String(), "\napiVersion: ")
	return "apiVersion: " + withoutRemarks, nil
}
