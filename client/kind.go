package client

import (
	"context"
	"net/http"
	"net/url"
)

// Kinds returns the kinds, without their schemas.
func (c *Client) Kinds(ctx context.Context) (Answer[Kinds], error) {
	return Call[Kinds](ctx, c, http.MethodGet, "/api/kinds", nil)
}

// ReloadKinds has the node that answers load the files of its kinds again. If one of them has a
// problem, the node keeps all kinds as they were and returns a conflict that lists the problems.
func (c *Client) ReloadKinds(ctx context.Context) (Answer[KindsReload], error) {
	return Call[KindsReload](ctx, c, http.MethodPost, "/api/kinds/reload", struct{}{})
}

// Kind returns a kind with its schemas.
func (c *Client) Kind(ctx context.Context, name string) (Answer[Kind], error) {
	return Call[Kind](ctx, c, http.MethodGet, "/api/kinds/"+url.PathEscape(name), nil)
}
