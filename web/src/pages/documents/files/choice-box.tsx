interface Props {
  label: string;
  checked: boolean;
  /** Some of what it stands for is chosen. */
  partly?: boolean;
  /** @param range whether Shift was held */
  onChange: (into: boolean, range: boolean) => void;
}

/** A check box of one element: a long list scrolls past thousands of them. */
export function ChoiceBox({ label, checked, partly = false, onChange }: Props) {
  return (
    <input
      type="checkbox"
      aria-label={label}
      ref={(box) => {
        if (box !== null) box.indeterminate = partly;
      }}
      checked={checked}
      onChange={({ currentTarget, nativeEvent }) =>
        onChange(currentTarget.checked, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
      }
      style={{ width: 18, height: 18, margin: 3, verticalAlign: 'middle' }}
    />
  );
}
