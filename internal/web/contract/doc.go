// Package contract describes the API to its callers: the types with which packages api and callback describe
// their routes in the tables of the router, and the documents of the API, OpenAPI and AsyncAPI. The documents are
// generated from these tables (package test/document, make generate) and embedded; a server adds its kinds.
package contract
