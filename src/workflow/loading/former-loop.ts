import { descend } from '../values/place.ts'
import { isRecord, type Value, type ValueRecord } from '../values/value.ts'
import { list, mapOf, mayHave, mustHave, oneOf, table, words } from './fields.ts'
import { normaliseRecord, type Rules } from './normalise.ts'

const FORMER = new Set(['cwltool:Loop', 'http://commonwl.org/cwltool#Loop'])

const loopInput = table('an input of cwltool:Loop', {
  id: mustHave('string'),
  loopSource: mayHave(oneOf('string', list('string'))),
  linkMerge: mayHave(words('merge_nested', 'merge_flattened')),
  pickValue: mayHave(words('first_non_null', 'the_only_non_null', 'all_non_null')),
  default: mayHave('any'),
  valueFrom: mayHave('string'),
})

const loop = table('cwltool:Loop', {
  class: mustHave('string'),
  loopWhen: mustHave('expression'),
  loop: mustHave(mapOf(() => loopInput, 'id', 'loopSource')),
  outputMethod: mayHave(words('last', 'all')),
})

/**
 * Converts the loop extension of the reference implementation (before v1.3 a requirement of a step) to v1.3's fields.
 */
export function withoutFormerLoop(step: ValueRecord, rules: Rules): ValueRecord {
  const requirements = Array.isArray(step.requirements) ? (step.requirements as readonly Value[]) : []
  const former = requirements.find((one) => isRecord(one) && FORMER.has(String(one.class)))
  if (former === undefined) return step
  const read = normaliseRecord(former, loop, rules)
  const inputs = (read.loop as readonly ValueRecord[]).map(({ loopSource, ...input }) =>
    loopSource === undefined ? input : { ...input, outputSource: loopSource },
  )
  const made = {
    ...step,
    requirements: requirements.filter((one) => one !== former),
    when: read.loopWhen ?? null,
    loop: inputs,
    outputMethod: read.outputMethod === 'all' ? 'all_iterations' : 'last_iteration',
  }
  return descend(made, step)
}
