import type { Process, Step, Workflow } from '../process/process.ts'

/** Prints a process as a Graphviz graph: inputs, steps, outputs, and the links between them. */
export function graphText(process: Process): string {
  const lines = ['digraph workflow {', '  rankdir = LR', '  node [fontname = "sans-serif"]']
  if (process.class === 'Workflow') drawWorkflow(process, '', lines)
  else lines.push(`  ${quoted(process.class)} [label = ${quoted(process.label ?? process.class)}, shape = box]`)
  return `${lines.join('\n')}\n}\n`
}

function drawWorkflow(workflow: Workflow, prefix: string, lines: string[]): void {
  const node = (kind: string, name: string): string => quoted(`${prefix}${kind}:${name}`)
  for (const { name } of workflow.inputs) lines.push(`  ${node('in', name)} [label = ${quoted(name)}, shape = oval]`)
  for (const step of workflow.steps) {
    const looks = step.run.class === 'ExpressionTool' ? 'box, style = dashed' : 'box'
    lines.push(`  ${node('step', step.name)} [label = ${quoted(stepLabel(step))}, shape = ${looks}]`)
    for (const input of step.inputs)
      for (const source of input.sources) lines.push(edge(from(source, node), node('step', step.name), input.name))
    if (step.run.class === 'Workflow') drawInner(step.run, `${prefix}${step.name}/`, { lines, label: step.name })
  }
  for (const { name, sources } of workflow.outputs) {
    lines.push(`  ${node('out', name)} [label = ${quoted(name)}, shape = oval, style = bold]`)
    for (const source of sources) lines.push(edge(from(source, node), node('out', name), ''))
  }
}

const stepLabel = ({ label, name, scatter, when, loop }: Step): string =>
  [
    label ?? name,
    ...(scatter.length > 0 ? [`scatter ${scatter.join(', ')}`] : []),
    ...(when === undefined ? [] : ['when']),
    ...(loop === undefined ? [] : ['loop']),
  ].join('\n')

function drawInner(
  workflow: Workflow,
  prefix: string,
  { lines, label }: { readonly lines: string[]; readonly label: string },
): void {
  lines.push(`  subgraph ${quoted(`cluster ${prefix}`)} {`, `  label = ${quoted(label)}`)
  drawWorkflow(workflow, prefix, lines)
  lines.push('  }')
}

function from(source: string, node: (kind: string, name: string) => string): string {
  const slash = source.indexOf('/')
  return slash < 0 ? node('in', source) : node('step', source.slice(0, slash))
}

const edge = (source: string, sink: string, label: string): string =>
  `  ${source} -> ${sink}${label === '' ? '' : ` [label = ${quoted(label)}]`}`

/** Escapes text for a label. */
const quoted = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
