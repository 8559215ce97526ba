// SPDX-License-Identifier: Apache-2.0

// Command image writes the image of pnagent as an OCI layout, without a daemon and without a
// base: the two programs, roots of TLS, time zones, and a directory for state. It is started
// with the layout's directory, the name of the image, and a directory of programs for each
// platform:
//
//	image LAYOUT NAME DIRECTORY...
//
// Equal programs make an equal digest: no time and no file of this machine goes into it.
//
// It is a module of its own, so that go-containerregistry is not among the dependencies of
// pnagent.
package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user is the number of the user and of the group that own the state, and as which processes run.
const user = 65532

const state = "var/lib/pnagent"

// programs are the two of make build.
var programs = []string{"pnagent", "pnagent-full"}

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: image LAYOUT NAME DIRECTORY...")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// write writes an image for each directory of programs into one layout.
func write(to, name string, directories []string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	path, err := layout.Write(to, empty.Index)
	if err != nil {
		return err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for i, dir := range directories {
		image, err := imageOf(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		config, err := image.ConfigFile()
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: config.Platform()}})
		if i == 0 {
			// Docker before version 29 reads this list, and not the index.
			err = writeList(filepath.Join(to, "manifest.json"), name, image)
		}
		if err != nil {
			return err
		}
	}
	return path.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"io.containerd.image.name":          name,
		"org.opencontainers.image.ref.name": name[strings.LastIndex(name, ":")+1:],
	}))
}

// imageOf returns the image of the programs in a directory.
func imageOf(dir string) (v1.Image, error) {
	built, err := buildinfo.ReadFile(filepath.Join(dir, programs[0]))
	if err != nil {
		return nil, err
	}
	files, err := filesOf(dir)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.AppendLayers(image, layer)
	if err != nil {
		return nil, err
	}
	config, err := configOf(image, built)
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(image, config)
}

// configOf returns the configuration of an image: what its programs were built of, and how it is run.
func configOf(image v1.Image, built *debug.BuildInfo) (*v1.ConfigFile, error) {
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	is := map[string]string{}
	for _, s := range built.Settings {
		is[s.Key] = s.Value
	}
	config.OS, config.Architecture = is["GOOS"], is["GOARCH"]
	labels := map[string]string{
		"org.opencontainers.image.title":    "pnagent",
		"org.opencontainers.image.source":   "https://github.com/pnagent/pnagent",
		"org.opencontainers.image.licenses": "Apache-2.0",
		"org.opencontainers.image.version":  built.Main.Version,
	}
	if commit := is["vcs.time"]; commit != "" {
		labels["org.opencontainers.image.revision"] = is["vcs.revision"]
		config.Created.Time, err = time.Parse(time.RFC3339, commit)
	}
	config.Config = v1.Config{
		User:         fmt.Sprintf("%d:%d", user, user),
		WorkingDir:   "/" + state,
		Entrypoint:   []string{"/usr/bin/pnagent"},
		Cmd:          []string{"serve", "--web.listen-address=:9797", "--mib-dir=/" + state},
		Env:          []string{"PATH=/usr/bin"},
		ExposedPorts: map[string]struct{}{"9797/tcp": {}},
		Volumes:      map[string]struct{}{"/" + state: {}},
		Labels:       labels,
	}
	return config, err
}

// writeList writes the list of images of docker save for one image of the layout.
func writeList(path, name string, image v1.Image) error {
	manifest, err := image.Manifest()
	if err != nil {
		return err
	}
	blob := func(h v1.Hash) string { return "blobs/" + h.Algorithm + "/" + h.Hex }
	list, err := json.Marshal([]map[string]any{{
		"Config":   blob(manifest.Config.Digest),
		"RepoTags": []string{name},
		"Layers":   []string{blob(manifest.Layers[0].Digest)},
	}})
	if err != nil {
		return err
	}
	return os.WriteFile(path, list, 0o644)
}
