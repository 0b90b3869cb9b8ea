package status

import (
	"embed"
	"net/http"
)

// page holds the files that a browser loads; they refer to nothing outside.
//
//go:embed page
var page embed.FS

func addPage(mux *http.ServeMux) {
	files, err := page.ReadDir("page")
	if err != nil {
		panic(err) // it was embedded
	}
	for _, file := range files {
		path := "GET /" + file.Name()
		if file.Name() == "index.html" {
			path = "GET /{$}"
		}
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			http.ServeFileFS(w, r, page, "page/"+file.Name())
		})
	}
}
