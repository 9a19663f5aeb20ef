import { DIGEST_SHAPE } from '../digests/digest.ts'
import type { NamedShape, Shape } from '../messages/well-formed.ts'

/** The field types of an ActionResult, for its decoder and for the check of reported results. */

export const NODE_PROPERTIES_SHAPE: Shape = { 1: { 1: 'text', 2: 'text' }, 2: 'time', 3: { 1: 'number' } }

const EXECUTION_METADATA_SHAPE: Shape = {
  1: 'text',
  2: 'time',
  3: 'time',
  4: 'time',
  5: 'time',
  6: 'time',
  7: 'time',
  8: 'time',
  9: 'time',
  10: 'time',
  11: { 1: 'text', 2: 'bytes' },
  12: { 1: 'int64', 2: 'number' },
}

const SYMLINK_SHAPE: Shape = { 1: 'text', 2: 'text', 4: NODE_PROPERTIES_SHAPE }

const ACTION_RESULT_SHAPE: Shape = {
  2: { 1: 'text', 2: DIGEST_SHAPE, 4: 'number', 5: 'bytes', 7: NODE_PROPERTIES_SHAPE },
  3: { 1: 'text', 3: DIGEST_SHAPE, 4: 'number', 5: DIGEST_SHAPE },
  4: 'number',
  5: 'bytes',
  6: DIGEST_SHAPE,
  7: 'bytes',
  8: DIGEST_SHAPE,
  9: EXECUTION_METADATA_SHAPE,
  10: SYMLINK_SHAPE,
  11: SYMLINK_SHAPE,
  12: SYMLINK_SHAPE,
}

export const ACTION_RESULT: NamedShape = { name: 'ActionResult', shape: ACTION_RESULT_SHAPE }
