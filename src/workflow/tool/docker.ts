import type { Scope } from '../process/process.ts'
import { findRequirement, isRequired } from '../process/requirement.ts'
import { text, type ValueRecord } from '../values/value.ts'

/** The fields of DockerRequirement. As a hint it may be ignored. */
export interface Docker {
  readonly image?: string
  readonly load?: string
  readonly file?: string
  readonly importFrom?: string
  readonly outputDirectory?: string
  readonly required: boolean
}

export function dockerOf(scope: Scope): Docker | undefined {
  const given: ValueRecord | undefined = findRequirement(scope, 'DockerRequirement')
  if (given === undefined) return undefined
  const image = text(given.dockerPull) ?? text(given.dockerImageId)
  const load = text(given.dockerLoad)
  const file = text(given.dockerFile)
  const importFrom = text(given.dockerImport)
  const outputDirectory = text(given.dockerOutputDirectory)
  return {
    ...(image === undefined ? {} : { image }),
    ...(load === undefined ? {} : { load }),
    ...(file === undefined ? {} : { file }),
    ...(importFrom === undefined ? {} : { importFrom }),
    ...(outputDirectory === undefined ? {} : { outputDirectory }),
    required: isRequired(scope, 'DockerRequirement'),
  }
}
