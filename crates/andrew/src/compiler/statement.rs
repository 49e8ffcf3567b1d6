//! Statements: loops, branches and jumps.

use super::Fault;
use super::ir::{Binary, Inst, Label};
use super::lex::Kind;
use super::operand::Operand;
use super::parse::Parser;
use super::types::Type;
use std::collections::HashMap;

impl Parser {
    /// Parses statements up to the closing brace, in their own scope.
    pub(super) fn block(&mut self) -> Result<(), Fault> {
        self.scopes.push(HashMap::new());
        while !self.accept("}") {
            if *self.peek() == Kind::End {
                return Err(self.fault("} is missing"));
            }
            if self.is_type(0) {
                self.local()?;
            } else {
                self.deeper(Self::statement)?;
            }
        }
        self.scopes.pop();
        Ok(())
    }

    fn statement(&mut self) -> Result<(), Fault> {
        if self.accept("{") {
            return self.block();
        }
        if self.accept(";") {
            return Ok(());
        }
        let word = match self.peek() {
            Kind::Word(word) => word.clone(),
            _ => return self.simple(),
        };
        match &*word {
            "if" => self.choice(),
            "while" => self.while_loop(),
            "do" => self.do_loop(),
            "for" => self.for_loop(),
            "switch" => self.switch(),
            "case" | "default" => self.case(),
            "break" | "continue" => self.leave(&word),
            "return" => self.result(),
            _ => self.simple(),
        }
    }

    fn simple(&mut self) -> Result<(), Fault> {
        self.expression()?;
        self.expect(";")
    }

    /// Parses a condition in parentheses, which jumps to `to` if it is false.
    fn unless(&mut self, to: Label) -> Result<(), Fault> {
        self.expect("(")?;
        let test = self.expression()?;
        self.expect(")")?;
        self.branch(&test, false, to)
    }

    fn branch(&mut self, test: &Operand, when: bool, to: Label) -> Result<(), Fault> {
        let (test, _) = self.value(test)?;
        self.emit(Inst::Branch { test, when, to });
        Ok(())
    }

    fn choice(&mut self) -> Result<(), Fault> {
        self.next();
        let otherwise = self.label();
        self.unless(otherwise)?;
        self.deeper(Self::statement)?;
        if self.accept_word("else") {
            let end = self.label();
            self.emit(Inst::Jump(end));
            self.emit(Inst::Label(otherwise));
            self.deeper(Self::statement)?;
            self.emit(Inst::Label(end));
        } else {
            self.emit(Inst::Label(otherwise));
        }
        Ok(())
    }

    /// Parses the body of a loop with its jump targets.
    fn body(&mut self, next: Label, end: Label) -> Result<(), Fault> {
        self.targets.breaks.push(end);
        self.targets.continues.push(next);
        self.deeper(Self::statement)?;
        self.targets.breaks.pop();
        self.targets.continues.pop();
        Ok(())
    }

    fn while_loop(&mut self) -> Result<(), Fault> {
        self.next();
        let (begin, end) = (self.label(), self.label());
        self.emit(Inst::Label(begin));
        self.unless(end)?;
        self.body(begin, end)?;
        self.emit(Inst::Jump(begin));
        self.emit(Inst::Label(end));
        Ok(())
    }

    fn do_loop(&mut self) -> Result<(), Fault> {
        self.next();
        let (begin, next, end) = (self.label(), self.label(), self.label());
        self.emit(Inst::Label(begin));
        self.body(next, end)?;
        self.emit(Inst::Label(next));
        if !self.accept_word("while") {
            return Err(self.fault("while is missing"));
        }
        self.unless(end)?;
        self.emit(Inst::Jump(begin));
        self.emit(Inst::Label(end));
        self.expect(";")
    }

    fn for_loop(&mut self) -> Result<(), Fault> {
        self.next();
        self.expect("(")?;
        if !self.accept(";") {
            self.simple()?;
        }
        let (begin, next, end) = (self.label(), self.label(), self.label());
        self.emit(Inst::Label(begin));
        if !self.accept(";") {
            let test = self.expression()?;
            self.branch(&test, false, end)?;
            self.expect(";")?;
        }
        // The step is parsed before the body and runs after it.
        let before = self.function.code.len();
        if *self.peek() != Kind::Mark(")") {
            self.expression()?;
        }
        let step = self.function.code.split_off(before);
        self.expect(")")?;
        self.body(next, end)?;
        self.emit(Inst::Label(next));
        self.function.code.extend(step);
        self.emit(Inst::Jump(begin));
        self.emit(Inst::Label(end));
        Ok(())
    }

    fn switch(&mut self) -> Result<(), Fault> {
        self.next();
        self.expect("(")?;
        let value = self.expression()?;
        self.expect(")")?;
        let (value, _) = self.value(&value)?;
        let (choose, end) = (self.label(), self.label());
        self.emit(Inst::Jump(choose));
        self.targets.breaks.push(end);
        self.targets.switches.push((Vec::new(), None));
        self.deeper(Self::statement)?;
        self.targets.breaks.pop();
        let (cases, default) = self.targets.switches.pop().unwrap_or_default();
        self.emit(Inst::Jump(end));
        self.emit(Inst::Label(choose));
        for (case, to) in cases {
            let case = self.constant(case);
            let test = self.binary(Binary::Equal, value, case);
            self.emit(Inst::Branch { test, when: true, to });
        }
        self.emit(Inst::Jump(default.unwrap_or(end)));
        self.emit(Inst::Label(end));
        Ok(())
    }

    fn case(&mut self) -> Result<(), Fault> {
        let default = self.accept_word("default");
        let value = if default {
            None
        } else {
            self.next();
            Some(self.known()?)
        };
        self.expect(":")?;
        let label = self.label();
        self.emit(Inst::Label(label));
        let outside = self.fault("a case outside of a switch");
        let (cases, otherwise) = self.targets.switches.last_mut().ok_or(outside)?;
        match value {
            Some(value) => cases.push((value, label)),
            None => *otherwise = Some(label),
        }
        Ok(())
    }

    fn leave(&mut self, word: &str) -> Result<(), Fault> {
        self.next();
        let all = if word == "break" { &self.targets.breaks } else { &self.targets.continues };
        let to = *all.last().ok_or_else(|| self.fault(format!("{word} outside of a loop")))?;
        self.emit(Inst::Jump(to));
        self.expect(";")
    }

    fn result(&mut self) -> Result<(), Fault> {
        self.next();
        if self.accept(";") {
            self.emit(Inst::Return(None));
            return Ok(());
        }
        let value = self.expression()?;
        let (mut reg, _) = self.value(&value)?;
        if self.result == Type::Char {
            reg = self.narrow(reg);
        }
        self.emit(Inst::Return(Some(reg)));
        self.expect(";")
    }
}
