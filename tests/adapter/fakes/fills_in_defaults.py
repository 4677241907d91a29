"""Shows a default where its API shows nothing, and takes a priority of zero for nothing."""

from thorough import Thorough


class FillsInDefaults(Thorough):
    def answer(self, number, **result):
        if "message" in result:
            result["message"] = {**result["message"], "priority": result["message"].get("priority") or 3}
        super().answer(number, **result)


FillsInDefaults().run()
