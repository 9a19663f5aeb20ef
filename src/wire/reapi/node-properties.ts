import type { NodeProperties } from '../../model/node-properties.ts'
import type { NodeProperties as NodePropertiesProto } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { TIMESTAMP_SHAPE, timestampFromProto, timestampToProto } from '../google/timestamp.ts'
import type { Shape } from '../messages/well-formed.ts'

export const NODE_PROPERTIES_SHAPE: Shape = { 1: { 1: 'text', 2: 'text' }, 2: TIMESTAMP_SHAPE, 3: { 1: 'number' } }

export const nodePropertiesToProto = (noun: NodeProperties | undefined): NodePropertiesProto | undefined =>
  noun && {
    properties: noun.named,
    mtime: noun.mtime && timestampToProto(noun.mtime),
    unixMode: noun.unixMode,
  }

export const nodePropertiesFromProto = (proto: NodePropertiesProto | undefined): NodeProperties | undefined =>
  proto && {
    named: proto.properties.map(({ name, value }) => ({ name, value })),
    mtime: proto.mtime && timestampFromProto(proto.mtime),
    unixMode: proto.unixMode,
  }
