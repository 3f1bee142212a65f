# Turns what go version -m -json prints about a binary into a CycloneDX list of the modules in it.
def purl: "pkg:golang/\(.Path)@\(.Version)" | gsub("\\+"; "%2B");
def component($type): {type: $type, "bom-ref": purl, name: .Path, version: .Version, purl: purl}
  + if .Sum then {properties: [{name: "go.sum", value: .Sum}]} else {} end;

([.Settings[] | {key: .Key, value: .Value}] | from_entries) as $built
| ([{Path: "stdlib", Version: (.GoVersion | ltrimstr("go"))}] + (.Deps | map(.Replace // .))) as $modules
| {
    "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", bomFormat: "CycloneDX", specVersion: "1.6", version: 1,
    metadata: {
      timestamp: $built["vcs.time"],
      component: (.Main | component("application")
        + {properties: ([["GOOS", "GOARCH", "vcs.revision"][] | {name: ., value: $built[.]}])})
    },
    components: ($modules | map(component("library"))),
    dependencies: [{ref: (.Main | purl), dependsOn: ($modules | map(purl))}]
  }
