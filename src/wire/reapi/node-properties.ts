import type { NodeProperties } from '../../model/node-properties.ts'
import type { NodeProperties as NodePropertiesProto } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'

export const nodePropertiesToProto = (properties: NodeProperties | undefined): NodePropertiesProto | undefined =>
  properties && {
    properties: properties.named,
    mtime: properties.mtime,
    unixMode: properties.unixMode,
  }

export const nodePropertiesFromProto = (proto: NodePropertiesProto | undefined): NodeProperties | undefined =>
  proto && {
    named: proto.properties.map(({ name, value }) => ({ name, value })),
    mtime: proto.mtime,
    unixMode: proto.unixMode,
  }
