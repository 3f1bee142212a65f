// Package callback is what Claude calls: progress, batches, the result, or that
// it cannot do the job. Each payload is checked in this order: envelope (400),
// request known (404), signature (403), payload schema (400). A good callback
// costs one round trip to Redis; success is answered only after its effect is
// stored. The endpoints come from seed 002.
package callback
