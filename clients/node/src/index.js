// SPDX-License-Identifier: Apache-2.0

export { Net } from './net.js'
export { LimitError, Reason, Recorder } from './recorder.js'
export { Source } from './source.js'
